/** Shapes that may resemble each other (`path#Name`), by the reason why they are different things. */
export const KIN: Readonly<Record<string, readonly string[]>> = {
  'a bubble as the pipeline records it and as readers get it': [
    'contracts/src/events/recording-events.ts#BubbleDetails',
    'contracts/src/api/bubble.ts#Bubble',
  ],
  'media as the pipeline reports them and as readers get them': [
    'contracts/src/events/recording-events.ts#MediaProcessedV1',
    'contracts/src/api/bubble.ts#BubbleMedia',
  ],
  'a comment as the pipeline reports it, as readers get it and as the sandbox is told it': [
    'contracts/src/events/recording-events.ts#CommentFacts',
    'contracts/src/api/comment.ts#Comment',
    'deploy/sandbox/src/pipeline/fields.ts#NewComment',
  ],
};

/** What each service has under the same name. */
export const SAME_BY_DESIGN: ReadonlySet<string> = new Set(['Config', 'createApp', 'readConfig', 'routes', 'consumers']);

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
  'a comment as the pipeline reports it, as it is read, as readers get it and as the sandbox is told it': [
    'contracts/src/events/recording-events.ts#CommentFacts',
    'contracts/src/api/comment.ts#Comment',
    'deploy/sandbox/src/pipeline/fields.ts#NewComment',
    'services/bubbles-query/src/adapters/bus/event-handlers.ts#CommentTold',
  ],
  'an event as code hands it on and as it is proved on arrival': [
    'shared/bus/src/bus.ts#CloudEvent',
    'shared/bus/src/cloud-event.ts#Envelope',
  ],
  'a thread as the pipeline keeps it, and threads and comments as bubbles-query does': [
    'deploy/sandbox/src/pipeline/comments.ts#PipelineThread',
    'services/bubbles-query/src/domain/comment.ts#Comment',
    'services/bubbles-query/src/domain/comment.ts#Thread',
  ],
};

/** Plain verbs that are different things in different places. */
export const NAMESAKES: ReadonlySet<string> = new Set(['attempt']);

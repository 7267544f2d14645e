import type { CardRow } from './card.ts';
import type { BuiltIndex, MergeResult, MergeTask } from './index-build.ts';

/** To a thread. Rows of a build come in order before its finish; builds may interleave. */
export type BuildOrder =
  | { readonly job: number; readonly kind: 'rows'; readonly rows: readonly CardRow[] }
  | { readonly job: number; readonly kind: 'finish' }
  | { readonly job: number; readonly kind: 'drop' }
  | { readonly job: number; readonly kind: 'merge'; readonly task: MergeTask };

/** From a thread, for every finish, drop and merge. */
export type BuildAnswer =
  | { readonly job: number; readonly kind: 'built'; readonly built: BuiltIndex }
  | { readonly job: number; readonly kind: 'merged'; readonly merged: MergeResult }
  | { readonly job: number; readonly kind: 'failed'; readonly reason: string };

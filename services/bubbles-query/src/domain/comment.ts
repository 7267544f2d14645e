type CommentKind = 'text' | 'video' | 'image';

/** Facts of one comment, the newest revision of them. */
export interface Comment {
  readonly id: string;
  readonly revision: number;
  readonly threadId: string;
  readonly bubbleId: string;
  readonly kind: CommentKind;
  readonly body: string | null;
  readonly videoUrl: string | null;
  readonly imageUrl: string | null;
  readonly createdAt: Date;
  readonly author: { readonly id: string; readonly name: string | null };
  readonly timestampSeconds: number | null;
  readonly draft: boolean;
  readonly archived: boolean;
}

export interface Thread {
  readonly id: string;
  readonly revision: number;
  readonly bubbleId: string;
  readonly draft: boolean;
  readonly archived: boolean;
  readonly pinned: boolean;
}

export interface ShownComment extends Comment {
  readonly pinned: boolean;
}

export const isShown = ({ draft, archived }: { readonly draft: boolean; readonly archived: boolean }): boolean => !draft && !archived;

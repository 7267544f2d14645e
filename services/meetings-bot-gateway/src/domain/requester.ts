/** An account in one of its lives that asks for a notetaker. After deletion and reopening it is another requester. */
export interface Requester {
  readonly userId: string;
  readonly life: number;
}

const FIRST_LIFE = 1;
const LATER_LIFE = /^#(\d+) (.+)$/s;

export const requesterId = ({ userId, life }: Requester): string => (life === FIRST_LIFE ? userId : `#${life} ${userId}`);

export const requesterOf = (id: string): Requester => {
  const [, life, userId] = LATER_LIFE.exec(id) ?? [];
  return userId === undefined ? { userId: id, life: FIRST_LIFE } : { userId, life: Number(life) };
};

/** Every requester that the account has been, up to this life. */
export const requesterIdsUntil = (life: number, userId: string): readonly string[] =>
  Array.from({ length: life }, (_, n) => requesterId({ userId, life: n + FIRST_LIFE }));

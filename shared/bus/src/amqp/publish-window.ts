/** Lets in so many at a time, first come first served, and nobody while it is shut. */
export interface PublishWindow {
  /** Resolves with the way out. */
  enter(): Promise<() => void>;
  /** Nobody enters until `open`. */
  shut(): void;
  open(): void;
}

export const publishWindow = (size: number): PublishWindow => {
  const queue: (() => void)[] = [];
  let inside = 0;
  let shut = false;

  const letIn = () => {
    while (!shut && inside < size && queue.length > 0) {
      inside += 1;
      queue.shift()?.();
    }
  };
  const leave = () => {
    inside -= 1;
    letIn();
  };
  return {
    enter: () =>
      new Promise((resolve) => {
        queue.push(() => resolve(leave));
        letIn();
      }),
    shut: () => {
      shut = true;
    },
    open: () => {
      shut = false;
      letIn();
    },
  };
};

// Sizes in the graph. They are separate from the layout library, which only the worker needs.
export const size = { width: 264, height: 64 };
export const gap = 16;
// head is the height of a block's title.
export const head = 36;
// few is the number of nodes up to which they are stacked; more form a block.
export const few = 12;

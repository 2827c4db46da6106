// How large things are in the graph. They stand apart from the library that arranges, which only the worker needs.
export const size = { width: 232, height: 58 };
export const gap = 14;
// head is the room that a block has above its nodes, for its title.
export const head = 34;
// few is how many that hang on the same node stand one below the other; more make a block.
export const few = 12;

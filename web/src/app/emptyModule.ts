// An empty module in place of a package that is imported but never used.
export default {};

// Stands for a package that is named somewhere and never used.
export default {};

// mayFocus reports whether a new field may take the focus. A form that loads while the search or another dialog is open must
// not take the focus from it.
export function mayFocus(autofocus: boolean | undefined): boolean {
  return autofocus === true && document.querySelector('[role="dialog"]') === null;
}

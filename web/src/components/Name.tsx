import { Fragment } from "react";

// Name is a text that preferably breaks after dots, slashes and hyphens, as in names of hosts and objects.
export function Name({ children }: { children: string }) {
  const parts = children.split(/(?<=[./-])(?=[^\s./-])/);
  return (
    <>
      {parts.map((part, i) => (
        <Fragment key={i}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}

import type { SVGProps } from "react";

// All icons are stroked paths on a 24 by 24 grid.
const shapes = {
  catalog: "M4 6h16M4 12h16M4 18h10",
  create: "M12 5v14M5 12h14",
  ingestion: "M12 3v10m0 0-4-4m4 4 4-4M5 17v2a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-2",
  playground: "M8 7l-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20c1-4 4-5 7-5s6 1 7 5",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19",
  moon: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z",
  auto: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 3v18M12 7h5M12 12h8M12 17h5",
  copy: "M9 9h10v12H9zM5 15V3h10",
  check: "M5 13l4 4L19 7",
  close: "M6 6l12 12M18 6L6 18",
  download: "M12 4v11m0 0-4-4m4 4 4-4M5 20h14",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.5",
  error: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9 9l6 6M15 9l-6 6",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.5",
  unknown: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 16.5v.5",
  empty: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 2h4l1-2h5",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  left: "M15 6l-6 6 6 6",
  right: "M9 6l6 6-6 6",
  external: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  refresh: "M20 11a8 8 0 1 0-2 6M20 4v7h-7",
  play: "M7 5l12 7-12 7z",
  stop: "M6 6h12v12H6z",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  menu: "M4 7h16M4 12h16M4 17h16",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  edit: "M4 20l4-1L19 8l-3-3L5 16zM14 7l3 3",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  upload: "M12 20V9m0 0-4 4m4-4 4 4M5 4h14",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
} as const;

export type IconName = keyof typeof shapes;

// Icon is decorative; its meaning is always given by text or a label.
export function Icon({ name, size = 18, ...rest }: { name: IconName; size?: number } & Omit<SVGProps<SVGSVGElement>, "name">) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
      focusable="false"
      {...rest}
    >
      <path d={shapes[name]} />
    </svg>
  );
}

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
  target: "M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM12 2v6M12 16v6M2 12h6M16 12h6",
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
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",
  star: "M12 4l2.5 5.2 5.5.7-4 3.9 1 5.6-5-2.8-5 2.8 1-5.6-4-3.9 5.5-.7z",
  tasks: "M4 6l1.5 1.5L8 5M4 12l1.5 1.5L8 11M4 18l1.5 1.5L8 17M12 6h8M12 12h8M12 18h8",
  keyboard: "M3 7h18v10H3zM7 11v.01M11 11v.01M15 11v.01M8 14h8",
  offline: "M3 3l18 18M5 12a11 11 0 0 1 4-2.5M13 9a11 11 0 0 1 6 3M8.5 15.5a5 5 0 0 1 5-1M12 19v.01",
  // Kinds of entities.
  component: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  api: "M8 4c-3 0-1 6-4 8 3 2 1 8 4 8M16 4c3 0 1 6 4 8-3 2-1 8-4 8",
  template: "M6 3h8l4 4v14H6zM14 3v4h4M9 13h6M12 10v6",
  resource: "M4 5h16v6H4zM4 13h16v6H4zM8 8v.01M8 16v.01",
  system: "M5 4h5v5H5zM14 4h5v5h-5zM9.5 15h5v5h-5zM7.5 9v3h9V9M12 12v3",
  domain: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18",
  group: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c.5-4 3-5 6-5s5.5 1 6 5M16 4.5a3.5 3.5 0 0 1 0 6.5M17 15c2.5.3 3.7 2 4 5",
  location: "M12 21s-7-6-7-11a7 7 0 1 1 14 0c0 5-7 11-7 11zM12 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  definition: "M6 3h8l4 4v14H6zM14 3v4h4M11 12l-2 2 2 2M13 12l2 2-2 2",
  composition: "M12 3l9 4.5-9 4.5-9-4.5zM3 12l9 4.5 9-4.5M3 16.5L12 21l9-4.5",
  // Well-known types of resources.
  database: "M4 6c0-4 16-4 16 0s-16 4-16 0zM4 6v12c0 4 16 4 16 0V6M4 12c0 4 16 4 16 0",
  bucket: "M4 6c0-3 16-3 16 0s-16 3-16 0zM4 6l2 13c1 2 11 2 12 0l2-13",
  network: "M12 8V4M9 2.5h6v4H9zM3 17.5h6v4H3zM15 17.5h6v4h-6zM6 17.5V12h12v5.5M12 6.5V12",
  cluster: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 9l2.6 1.5v3L12 15l-2.6-1.5v-3zM12 3v6M4 16.5l5.400-3M20 16.5l-5.400-3",
  queue: "M3 8h5v8H3zM9.5 8h5v8h-5zM16 12h6M19 9l3 3-3 3",
  cache: "M13 3L5 13h6l-1 8 8-11h-6z",
  certificate: "M12 14a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM9 13l-1.5 8 4.5-2.5 4.5 2.5L15 13",
  dns: "M4 5h16v14H4zM4 9h16M8 13h8M8 16h5",
  lambda: "M7 4h3l7 16h3M12 9L6 20",
  secret: "M8 15a5 5 0 1 1 4.6-3L21 20v1h-4v-3h-3l-2.5-2.5M7.5 9.5v.01",
  identity: "M4 5h16v14H4zM9 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM6 16c.4-2 1.5-2.5 3-2.5s2.6.5 3 2.5M15 10h3M15 13h3",
  repository: "M6 3h12v18l-3-2H6zM6 15h12M10 7h4",
  monitor: "M3 12h4l3-8 4 16 3-8h4",
  machine: "M4 5h16v11H4zM9 20h6M12 16v4",
  volume: "M4 13h16v6H4zM6 5h12l2 8H4zM16 16v.01",
  app: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
} as const;

export type IconName = keyof typeof shapes;

export const iconNames = Object.keys(shapes) as IconName[];

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

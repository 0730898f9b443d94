/** Line icons, drawn on a grid of 16. They say nothing by themselves: the button's label does. */

const paths = {
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M6 2.500H2.500V6M10 2.500h3.500V6M6 13.500H2.500V10M10 13.500h3.500V10",
  reset: "M3.500 8a4.500 4.500 0 1 1 1.400 3.300M3.500 12.500V9.300h3.200",
  download: "M8 2.500v7.500M4.800 7 8 10.200 11.200 7M3 13h10",
  table: "M2.500 3.500h11v9h-11zM2.500 6.500h11M2.500 9.500h11M6.500 3.500v9",
  link: "M6.700 9.300 9.300 6.700M7 4.800l1.300-1.300a2.800 2.800 0 0 1 4 4L11 8.800M9 11.200l-1.300 1.300a2.800 2.800 0 0 1-4-4L5 7.200",
  play: "M5 3.200v9.600L12.500 8z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  left: "M9.800 3.500 5.300 8l4.500 4.500",
  right: "M6.200 3.500 10.700 8l-4.500 4.500",
  swap: "M3 5.500h9.500M10 3l2.500 2.500L10 8M13 10.500H3.500M6 8l-2.500 2.500L6 13",
  sun: "M8 5.200a2.800 2.800 0 1 1 0 5.600 2.800 2.800 0 0 1 0-5.600zM8 1.500v1.400M8 13.100v1.400M1.500 8h1.400M13.100 8h1.400M3.400 3.400l1 1M11.600 11.600l1 1M12.600 3.400l-1 1M4.400 11.600l-1 1",
  moon: "M13 9.700A5.500 5.500 0 0 1 6.300 3 5.500 5.500 0 1 0 13 9.700z",
  close: "M4 4l8 8M12 4l-8 8",
  words: "M2.500 4h6M2.500 8h4M2.500 12h5M10.500 5.500 13 8l-2.500 2.500M13 8H8.500",
  upload: "M8 10.500V3M4.800 6 8 2.800 11.200 6M3 13h10",
  person: "M8 2.500a2.800 2.800 0 1 1 0 5.600 2.800 2.800 0 0 1 0-5.600zM2.800 13.500a5.200 4 0 0 1 10.400 0",
  bin: "M3.500 4.500h9M6.500 4.500V3h3v1.500M4.800 4.500l.5 8.500h5.400l.5-8.500",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="32" height="32" rx="7" />
      {[
        [7, 7, 1],
        [7, 13.5, 0.45],
        [13.5, 13.5, 1],
        [7, 20, 0.25],
        [13.5, 20, 0.6],
        [20, 20, 1],
      ].map(([x, y, opacity]) => (
        <rect class="mark-cell" x={x} y={y} width="5" height="5" rx="1" opacity={opacity} />
      ))}
    </svg>
  );
}

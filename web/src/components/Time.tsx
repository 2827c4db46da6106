import { useEffect, useState } from "react";

const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

// relative formats a time relative to now.
export function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) {
      return words.format(Math.trunc(seconds / size), unit);
    }
  }
  return Math.abs(seconds) < 5 ? "just now" : words.format(seconds, "second");
}

// Time shows a relative time, with the exact time as tooltip.
export function Time({ at }: { at: string | number | Date | undefined }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  const when = new Date(at ?? NaN);
  if (Number.isNaN(when.getTime())) {
    return <>never</>;
  }
  return (
    <time dateTime={when.toISOString()} title={when.toLocaleString()}>
      {relative(when.getTime(), Math.max(now, when.getTime() > Date.now() ? now : when.getTime()))}
    </time>
  );
}

// duration formats a duration.
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) {
    return `${Math.round(milliseconds)} ms`;
  }
  if (milliseconds < 60_000) {
    return `${(milliseconds / 1000).toFixed(1)} s`;
  }
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

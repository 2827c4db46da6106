import { useEffect, useState } from "react";
import { language, texts } from "../text";

const words = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
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
  return Math.abs(seconds) < 5 ? texts.components.time.justNow : words.format(seconds, "second");
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
    return <>{texts.components.time.never}</>;
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
    return texts.components.time.milliseconds(String(Math.round(milliseconds)));
  }
  if (milliseconds < 60_000) {
    return texts.components.time.seconds((milliseconds / 1000).toFixed(1));
  }
  const minutes = Math.floor(milliseconds / 60_000);
  return texts.components.time.minutes(String(minutes), String(Math.round((milliseconds % 60_000) / 1000)));
}

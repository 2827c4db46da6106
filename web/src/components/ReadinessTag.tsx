import type { ReactNode } from "react";
import { readinessTitle, type Ready } from "../api/readiness";
import type { IconName } from "./Icon";
import { Tag, type Tone } from "./Tag";

// readinessIcons are the icons of readiness on all pages, in lists, labels and graphs.
export const readinessIcons: Record<Ready, IconName> = { ready: "check", "not ready": "error", unknown: "unknown" };

const tones: Record<Ready, Tone> = { ready: "success", "not ready": "error", unknown: "plain" };

// ReadinessTag shows readiness as a label. Its text is the title of the readiness, unless another is given.
export function ReadinessTag({ value, children = readinessTitle(value) }: { value: Ready; children?: ReactNode }) {
  return (
    <Tag tone={tones[value]} icon={readinessIcons[value]}>
      {children}
    </Tag>
  );
}

import { texts } from "../text";
import { rememberDraft } from "./draft";
import { hashOf, maxTextBytes, pack } from "./link";

// playgroundPath returns a path that opens a text in the playground: the text is in the hash or, if it is too long for a
// link, the draft of this browser tab. It throws if the text is too long for the playground too.
export async function playgroundPath(text: string, profile?: string): Promise<string> {
  if (new TextEncoder().encode(text).length > maxTextBytes) {
    throw new Error(texts.playground.sourceTooLarge);
  }
  const at = profile === undefined ? "/playground" : `/playground?${new URLSearchParams({ profile }).toString()}`;
  try {
    return at + hashOf(await pack(text));
  } catch {
    if (!rememberDraft(text)) {
      throw new Error(texts.playground.cannotStore);
    }
    return at;
  }
}

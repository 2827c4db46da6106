import { format } from "@cfworker/json-schema";

const day = "\\d{4}-(?:0\\d|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const clock = "(?:[01]\\d|2[0-4]):[0-5]\\d:(?:[0-5]\\d|60)";
const offset = "(?:[zZ]|[+-][0-5]\\d:(?:[0-5]\\d|60))";
const octet = "(?:25[0-5]|2[0-4]\\d|[01]?\\d?\\d)";
const label = "[0-9A-Za-z](?:[-0-9A-Za-z]{0,61}[0-9A-Za-z])?";
const atom = "[-\\w!#$%&'*+/=?^`{|}~]+";
const hex = "[0-9A-Fa-f]";
const address = `${octet}(?:\\.${octet}){3}`;
const host = `${label}(?:\\.${label})*\\.?`;

function whole(pattern: string): (text: string) => boolean {
  const exp = new RegExp(`^(?:${pattern})$`);
  return (text) => exp.test(text);
}

// isIPv6 uses the URL parser of the browser, which is more reliable than a pattern.
function isIPv6(text: string): boolean {
  const [address = ""] = text.trim().split("%");
  return /^[0-9a-fA-F:.]+$/.test(address) && address.includes(":") && URL.canParse(`http://[${address}]/`);
}

const isHost = (text: string) => text.length <= 255 && whole(host)(text);

// The formats that the server checks, equally lenient: the form must not reject what the server accepts. Formats not listed
// here are accepted; the server decides.
const known: Record<string, (text: string) => boolean> = {
  "date-time": whole(`${day}[tT ]${clock}(?:\\.\\d+)?${offset}`),
  date: whole(day),
  time: whole(clock),
  email: whole(`${atom}(?:\\.${atom})*@(?:(?:${label}\\.)+${label}|\\[${address}\\])`),
  "ip-address": whole(address),
  ipv4: whole(address),
  ipv6: isIPv6,
  duration: (text) => /P(?:T\d+[HMS]|\d+[DMYW])/i.test(text),
  phone: whole("\\+(?:\\d ?){6,14}\\d"),
  uri: whole("[a-zA-Z][-a-zA-Z0-9+.]*:[^\\s]*"),
  uuid: whole(`${hex}{8}(?:-${hex}{4}){3}-${hex}{12}`),
  hostname: isHost,
  "host-name": isHost,
  alpha: whole("[a-zA-Z]+"),
  alphanumeric: whole("[a-zA-Z0-9]+"),
};

// isFormat reports whether a format is checked here.
export function isFormat(name: string): boolean {
  return Object.hasOwn(known, name);
}

// setFormats replaces the built-in formats of the validation library. Nothing else uses that library.
export function setFormats(): void {
  const all = format as Record<string, (text: string) => boolean>;
  for (const name of Object.keys(all)) {
    delete all[name];
  }
  Object.assign(all, known);
}

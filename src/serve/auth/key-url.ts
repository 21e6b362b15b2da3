import { DecisionError } from "../../errors.js";

/** Where keys are served, if it is a URL at all; throws where that could be somebody else's answer. */
export function keyUrl(written: string): URL | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) return undefined;
  if (!URL.canParse(written)) throw refused(written, "it is malformed");
  const url = new URL(written);
  if (url.username !== "" || url.password !== "") {
    throw refused(`${url.protocol}//…@${url.host}`, "it holds a name or password");
  }
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return url;
  throw refused(written, "what it answers could be forged on the way");
}

/** The URL parser has already made `127.1` and the like into four numbers. */
const isLoopback = (host: string): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

function refused(written: string, why: string): DecisionError {
  return new DecisionError("usage", `the URL of the keys \`${written}\` cannot be used: ${why}`, {
    hint: "give an https:// URL, or http:// on this machine, or a file",
  });
}

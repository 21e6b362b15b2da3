import { Chalk } from "chalk";
import type { Paint } from "./format.js";

export function colourPaint(): Paint {
  const chalk = new Chalk({ level: 1 });
  return (colour, text) => chalk[colour](text);
}

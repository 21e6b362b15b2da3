import { expressionClasses } from "./corpus/expressions.js";
import { aliases } from "./corpus/files/aliases.js";
import { encodings } from "./corpus/files/encodings.js";
import { json } from "./corpus/files/json.js";
import { keys } from "./corpus/files/keys.js";
import { meanings } from "./corpus/files/meanings.js";
import { nesting } from "./corpus/files/nesting.js";
import type { HostileFiles } from "./corpus/files/parts.js";
import { prototypes } from "./corpus/files/prototypes.js";
import { sizes } from "./corpus/files/sizes.js";
import { tags } from "./corpus/files/tags.js";
import { patternClasses } from "./corpus/patterns.js";

export type { Fate, HostileClass, HostileExpression } from "./corpus/expressions.js";
export type { HostileFile, HostileFiles, Soundness } from "./corpus/files/parts.js";

/** Expressions that are thrown at the command. */
export const hostileExpressions = [...expressionClasses, ...patternClasses];

/** Definition files that are thrown at it, a folder each. */
export const fileClasses: readonly HostileFiles[] = [
  aliases,
  nesting,
  keys,
  prototypes,
  tags,
  encodings,
  sizes,
  meanings,
  json,
];

import { schema } from "./schema.js";

/** A part of the JSON Schema of definition files. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly oneOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly discriminator?: { readonly propertyName: string };
  readonly $ref?: string;
}

/** Returns the text at a key of the map that a schema describes, if there is one. */
export type ReadText = (key: string) => string | undefined;

/** The schema of a document. */
export const documentSchema = schema as SchemaNode;

const definitions = schema.definitions as Readonly<Record<string, SchemaNode>>;

/** Returns the schema that a reference leads to. */
function resolve(node: SchemaNode): SchemaNode {
  const name = node.$ref?.replace("#/definitions/", "");
  if (name === undefined) return node;
  return { ...definitions[name], ...node };
}

/** What a schema says about the parts of a value. */
export interface SchemaShape {
  /** The keys of a map, in the order in which they are written. */
  readonly properties: Readonly<Record<string, SchemaNode>>;
  /** The values of a map with names of its own. */
  readonly others: SchemaNode | undefined;
  /** The items of a list. */
  readonly items: SchemaNode | undefined;
}

/**
 * Returns what a schema says about the parts of a value. `read` gives the text at a key of a map: it selects one variant;
 * where it selects none, the parts of all are returned.
 */
export function shapeOf(node: SchemaNode, read: ReadText = () => undefined): SchemaShape {
  const variants = variantsOf(resolve(node), read);
  const properties: Record<string, SchemaNode> = {};
  for (const each of variants) {
    for (const [key, property] of Object.entries(each.properties ?? {})) properties[key] ??= property;
  }
  return {
    properties,
    others: variants.map((each) => each.additionalProperties).find((each) => typeof each === "object"),
    items: variants.find((each) => each.items !== undefined)?.items,
  };
}

function variantsOf(node: SchemaNode, read: ReadText): readonly SchemaNode[] {
  const { oneOf = [], anyOf = [], discriminator } = node;
  // Some alternatives only say which keys are required.
  const variants = [...oneOf, ...anyOf].map(resolve).filter((each) => each.properties ?? each.items);
  const name = discriminator?.propertyName;
  const value = name === undefined ? undefined : read(name);
  const selected =
    name === undefined || value === undefined
      ? undefined
      : variants.find(({ properties }) => properties?.[name]?.const === value);
  return [node, ...(selected === undefined ? variants : [selected])];
}

/** Returns the schema of the value at a key of a map; undefined if the schema does not know it. */
export function schemaAtKey({ properties, others }: SchemaShape, key: string): SchemaNode | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : others;
}

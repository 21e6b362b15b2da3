import { nodeAt, textOf, valueOf } from "./text-place.js";
import { schema } from "../definition/schema.js";
import type { Path, TextNode } from "../definition/yaml-source.js";

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
  readonly discriminator?: { readonly propertyName: string };
  readonly $ref?: string;
}

const documentSchema = schema as unknown as SchemaNode;
const parts = schema.definitions as unknown as Readonly<Record<string, SchemaNode>>;

function resolve(node: SchemaNode): SchemaNode {
  const name = node.$ref?.replace("#/definitions/", "");
  return name === undefined ? node : { ...parts[name], ...node };
}

/** Returns the schemas that may describe the value at a path of a document: one, if the text says which. */
export function schemasAt(root: TextNode | undefined, path: Path): readonly SchemaNode[] {
  let found: readonly SchemaNode[] = [documentSchema];
  for (const [depth, step] of path.entries()) {
    const node = nodeAt(root, path.slice(0, depth));
    found =
      typeof step === "number"
        ? found.flatMap(({ items }) => items ?? []).map(resolve)
        : found.flatMap((each) => schemaAtKey(each, step, node));
  }
  return found;
}

function schemaAtKey(schemaNode: SchemaNode, key: string, node: TextNode | undefined): readonly SchemaNode[] {
  return variantsOf(schemaNode, node).flatMap(({ properties = {}, additionalProperties: more }) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property !== undefined) return [resolve(property)];
    return typeof more === "object" ? [resolve(more)] : [];
  });
}

/** Returns the variant that the discriminator of a map selects, or all variants where it selects none. */
function variantsOf(schemaNode: SchemaNode, node: TextNode | undefined): readonly SchemaNode[] {
  const { discriminator, oneOf = [] } = schemaNode;
  if (discriminator === undefined) return [schemaNode];
  const { propertyName } = discriminator;
  const value = textOf(valueOf(node, propertyName));
  const selected = oneOf.filter(({ properties }) => properties?.[propertyName]?.const === value);
  return selected.length > 0 ? selected : oneOf;
}

/** A key that a map may have. */
export interface KnownKey {
  readonly key: string;
  readonly schemas: readonly SchemaNode[];
  readonly isRequired: boolean;
}

/** Returns the keys of the map at a path, in the order of the schema. */
export function knownKeys(root: TextNode | undefined, path: Path): readonly KnownKey[] {
  const node = nodeAt(root, path);
  const variants = schemasAt(root, path).flatMap((each) => variantsOf(each, node));
  const keys = new Map<string, SchemaNode[]>();
  for (const { properties = {} } of variants) {
    for (const [key, property] of Object.entries(properties)) {
      keys.set(key, [...(keys.get(key) ?? []), resolve(property)]);
    }
  }
  const isRequired = (key: string): boolean => variants.every(({ required }) => required?.includes(key));
  return Array.from(keys, ([key, schemas]) => ({ key, schemas, isRequired: isRequired(key) }));
}

/** Returns the values that a scalar can only have. */
export function knownValues(schemas: readonly SchemaNode[]): readonly string[] {
  const values = schemas.flatMap((each) => {
    if (each.const !== undefined) return [each.const];
    return each.enum ?? (each.type === "boolean" ? [true, false] : []);
  });
  return [...new Set(values.map(String))];
}

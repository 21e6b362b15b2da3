import { DmnModdle } from "dmn-moddle";

/** An element of a model with the attributes that its type does not have. */
interface Element {
  readonly $attrs?: Readonly<Record<string, string>>;
  readonly id?: string;
  readonly label?: string;
}

interface NamedElement extends Element {
  readonly name?: string;
}

/** The root of a model. */
export interface DmnDefinitions extends NamedElement {
  readonly expressionLanguage?: string;
  readonly exporter?: string;
  readonly itemDefinition?: readonly ItemDefinition[];
  readonly drgElement?: readonly DrgElement[];
}

export interface ItemDefinition extends NamedElement {
  readonly typeRef?: string;
  readonly allowedValues?: DmnExpression;
  readonly isCollection?: boolean;
}

export type DrgElement = DmnInputData | DmnDecision;

export interface DmnInputData extends NamedElement {
  readonly $type: "dmn:InputData";
}

export interface DmnDecision extends NamedElement {
  readonly $type: "dmn:Decision";
  readonly description?: string;
  readonly informationRequirement?: readonly (Element & {
    readonly requiredDecision?: { readonly href?: string };
  })[];
  readonly decisionLogic?: DmnTable;
}

export interface DmnTable extends Element {
  readonly hitPolicy?: string;
  readonly aggregation?: string;
  readonly input?: readonly DmnInput[];
  readonly output?: readonly DmnOutput[];
  readonly rule?: readonly DmnRule[];
}

export interface DmnInput extends Element {
  readonly inputExpression?: DmnExpression;
  readonly inputValues?: DmnExpression;
}

export interface DmnOutput extends NamedElement {
  readonly typeRef?: string;
  readonly outputValues?: DmnExpression;
  readonly defaultOutputEntry?: DmnExpression;
}

export interface DmnRule extends Element {
  readonly description?: string;
  readonly inputEntry?: readonly DmnExpression[];
  readonly outputEntry?: readonly DmnExpression[];
  readonly annotationEntry?: readonly { readonly text?: string }[];
}

export interface DmnExpression extends Element {
  readonly text?: string;
  readonly typeRef?: string;
  readonly expressionLanguage?: string;
}

/** Parses the XML that `reduceDmn` returns. Throws for what is not DMN 1.3. */
export async function parseDmn(xml: string): Promise<DmnDefinitions> {
  const { rootElement } = await new DmnModdle().fromXML(xml, { lax: false });
  return rootElement;
}

/** Writes a model as indented XML. */
export async function serializeDmn(create: (factory: CreateElement) => object): Promise<string> {
  const moddle = new DmnModdle();
  const root = create((type, properties) => moddle.create(`dmn:${type}`, withoutUndefined(properties)));
  const { xml } = await moddle.toXML(root as never, { format: true });
  return xml;
}

export type CreateElement = (type: string, properties: Readonly<Record<string, unknown>>) => object;

const withoutUndefined = (properties: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));

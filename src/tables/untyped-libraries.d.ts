/** The parts of libraries without types that are used. */

declare module "saxen" {
  /** Where the parser is; counted from 0. */
  interface ParseContext {
    readonly line: number;
    readonly column: number;
  }

  type Decode = (text: string) => string;
  type GetContext = () => ParseContext;

  export class Parser {
    ns(prefixes: Readonly<Record<string, string>>): this;
    on(
      event: "openTag",
      handler: (
        name: string,
        attributes: () => Readonly<Record<string, string>>,
        decode: Decode,
        isSelfClosing: boolean,
        context: GetContext,
      ) => void,
    ): this;
    on(
      event: "closeTag",
      handler: (name: string, decode: Decode, isSelfClosing: boolean, context: GetContext) => void,
    ): this;
    on(
      event: "text" | "attention",
      handler: (text: string, decode: Decode, context: GetContext) => void,
    ): this;
    on(event: "cdata" | "question", handler: (text: string, context: GetContext) => void): this;
    on(event: "error" | "warn", handler: (error: Error, context: GetContext) => void): this;
    parse(text: string): this;
  }
}

declare module "dmn-moddle" {
  export interface ModdleElement {
    readonly $type: string;
    /** The attributes that the type does not have. */
    readonly $attrs: Readonly<Record<string, string>>;
  }

  export class DmnModdle {
    fromXML(
      text: string,
      options: { readonly lax: boolean },
    ): Promise<{ readonly rootElement: ModdleElement }>;
    toXML(element: ModdleElement, options: { readonly format: boolean }): Promise<{ readonly xml: string }>;
    create(type: string, properties: object): ModdleElement;
  }
}

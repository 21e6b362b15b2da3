import v8 from "@vitest/coverage-v8";
import type { CoverageProviderModule } from "vitest/node";
import { measuredPaths } from "./measured-paths.js";

const provider: CoverageProviderModule = {
  ...v8,
  /** Without what is not measured: after each file of tests all of it would be written, read and merged. */
  async takeCoverage(options) {
    const { result } = (await v8.takeCoverage?.(options)) as Taken;
    return { result: result.filter(({ url }) => measuredPaths.some((path) => url.includes(`/${path}`))) };
  },
};

interface Taken {
  readonly result: readonly { readonly url: string }[];
}

export default provider;

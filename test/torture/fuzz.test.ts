import { describe } from "vitest";
import { fuzz } from "../hostile/fuzz/fuzz.js";

const cases = process.env["AGENT33_TORTURE"] === "full" ? 200_000 : 5_000;

describe("the fuzzer", () => fuzz(cases, 1_500_000));

import { afterAll } from "vitest";
import { endFile } from "./after-file.js";

afterAll(endFile);

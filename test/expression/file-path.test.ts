import { describe, expect, it } from "vitest";
import { normalizePath } from "../../src/expression/file-path.js";

describe("a path without detours", () => {
  it.each([
    ["a/c", "a/c"],
    ["./a//b/../c", "a/c"],
    ["a/c/", "a/c"],
    ["a/./././c", "a/c"],
    ["", "."],
    [".", "."],
    ["./", "."],
    ["a/..", "."],
    ["..", ".."],
    ["../a", "../a"],
    ["a/../../b", "../b"],
    ["../../a/../..", "../../.."],
    ["/", "/"],
    ["//", "/"],
    ["/a/../b", "/b"],
    ["/..", "/"],
    ["/../../etc/passwd", "/etc/passwd"],
    ["/a/../../b", "/b"],
    ["a b/ü/…", "a b/ü/…"],
    ["...", "..."],
    ["a/.../..b", "a/.../..b"],
    ["C:\\a\\..\\b", "C:\\a\\..\\b"],
  ])("of %j is %j", (path, normal) => {
    expect(normalizePath(path)).toBe(normal);
    expect(normalizePath(normal)).toBe(normal);
  });

  it("of a relative path never becomes absolute, nor the other way round", () => {
    expect(normalizePath("a/../../../etc")).toBe("../../etc");
    expect(normalizePath("/a/../../../etc")).toBe("/etc");
  });

  it("is found in linear time", () => {
    expect(normalizePath("a/../".repeat(200_000))).toBe(".");
  });
});

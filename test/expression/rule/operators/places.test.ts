import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/model/json.js";
import { answer } from "../../answers.js";
import { ask, checkValue } from "../evaluate-condition.js";

const berlin = { lat: 52.52, lon: 13.405 };
const around = (center: Json, radius: Json): Json => ({ center, radius });

describe("within_radius", () => {
  it.each([
    ["Potsdam", { lat: 52.3906, lon: 13.0645 }, 26, 28],
    ["Paris", { lat: 48.8566, lon: 2.3522 }, 875, 881],
    ["Sydney", { lat: -33.8688, lon: 151.2093 }, 16_050, 16_150],
  ])("computes the distance of %s from Berlin", (_name, place, less, more) => {
    expect(ask("within_radius", place, around(berlin, less))).toBe(false);
    expect(ask("within_radius", place, around(berlin, more))).toBe(true);
  });

  it("holds of the center itself, with a radius of 0 too", () => {
    expect(ask("within_radius", berlin, around(berlin, 0))).toBe(true);
  });

  it("crosses the date line and the poles", () => {
    const fiji = { lat: 0, lon: 179.9 };
    expect(ask("within_radius", { lat: 0, lon: -179.9 }, around(fiji, 23))).toBe(true);
    expect(ask("within_radius", { lat: 89.9, lon: 0 }, around({ lat: 89.9, lon: 180 }, 23))).toBe(true);
  });

  it("reaches the other side of the Earth", () => {
    const half = Math.PI * 6371;
    expect(ask("within_radius", { lat: 0, lon: 180 }, around({ lat: 0, lon: 0 }, half))).toBe(true);
    expect(ask("within_radius", { lat: 0, lon: 180 }, around({ lat: 0, lon: 0 }, half - 1))).toBe(false);
  });

  it.each([
    [{ lat: 52.52, lng: 13.405 }],
    [{ latitude: 52.52, longitude: 13.405 }],
    [{ lat: 52.52, lon: 13.405, name: "here" }],
    [[52.52, 13.405]],
  ])("understands %j", (place) => {
    expect(ask("within_radius", place, around(berlin, 1))).toBe(true);
  });

  it.each([[{ lat: 52.52, lng: 13.405 }], [{ latitude: 52.52, longitude: 13.405 }], [[52.52, 13.405]]])(
    "understands the center %j",
    (center) => {
      expect(ask("within_radius", berlin, around(center, 1))).toBe(true);
    },
  );

  const nowhere: Json[] = [
    "52.52,13.405",
    [52.52, 13.405, 34],
    [52.52, "13.405"],
    {},
    { lat: 52.52 },
    { lon: 13.405 },
    { lat: "52.52", lon: 13.405 },
    { lat: 90.1, lon: 0 },
    { lat: -90.1, lon: 0 },
    { lat: 0, lon: 180.1 },
    { lat: 0, lon: -180.1 },
  ];

  it.each(nowhere.map((place) => ({ place })))("treats $place as no place", ({ place }) => {
    expect(ask("within_radius", place, around(berlin, 1))).toMatch(/^`within_radius` needs \{lat, lon\}/);
    expect(checkValue("within_radius", around(place, 1))).toMatch(/^`value` must be \{center, radius\}/);
  });

  it("treats the limits of latitude and longitude as places", () => {
    expect(ask("within_radius", { lat: 90, lon: 180 }, around({ lat: -90, lon: -180 }, 1))).toBe(false);
  });

  const faulty: Json[] = [
    5,
    null,
    [berlin, 5],
    {},
    { center: berlin },
    { radius: 5 },
    { center: berlin, distance: 5 },
    around(berlin, -1),
    around(berlin, "5"),
    around({ ...berlin, name: "Berlin" }, 5),
    { center: berlin, radius: 5, unit: "km" },
  ];

  it.each(faulty.map((value) => ({ value })))("rejects $value", ({ value }) => {
    expect(checkValue("within_radius", value)).toMatch(/^`value` must be \{center, radius\}/);
  });
});

describe("in_polygon", () => {
  const square: Json = [
    [0, 0],
    [0, 10],
    [10, 10],
    [10, 0],
  ];
  /** A square with a notch that reaches from the top to its middle. */
  const notched: Json = [
    [0, 0],
    [0, 10],
    [10, 10],
    [5, 5],
    [10, 0],
  ];

  it.each<[string, Json, Json, boolean]>([
    ["in the middle", { lat: 5, lon: 5 }, square, true],
    ["to the east", { lat: 5, lon: 11 }, square, false],
    ["to the west", { lat: 5, lon: -1 }, square, false],
    ["to the north", { lat: 11, lon: 5 }, square, false],
    ["to the south", { lat: -1, lon: 5 }, square, false],
    ["at the latitude of an edge, but outside", [10, 11], square, false],
    ["on a corner", [0, 0], square, true],
    ["on an edge", [10, 5], square, true],
    ["on the edge from the last corner to the first", [5, 0], square, true],
    ["in the notch", [9, 5], notched, false],
    ["beside the notch", [9, 1], notched, true],
    ["at the tip of the notch", [5, 5], notched, true],
    ["south of the notch", [4, 5], notched, true],
  ])("%s", (_name, place, corners, expected) => {
    expect(ask("in_polygon", place, corners)).toBe(expected);
    expect(ask("in_polygon", place, [...(corners as readonly Json[])].reverse())).toBe(expected);
  });

  it("agrees with the function of the same name", () => {
    const corners = "([0, 0], [0, 10], [10, 10], [5, 5], [10, 0])";
    expect(answer(`in_polygon(place, ${corners})`, { place: { lat: 9, lon: 5 } })).toBe(false);
    expect(answer(`in_polygon(place, ${corners})`, { place: { lat: 9, lon: 1 } })).toBe(true);
  });

  it.each<Json[][]>([
    [[]],
    [
      [
        [0, 0],
        [1, 1],
      ],
    ],
    [
      [
        [0, 0],
        [1, 1],
        [91, 0],
      ],
    ],
    [[[0, 0], [1, 1], "c"]],
  ])("rejects the corners %j", (corners) => {
    expect(checkValue("in_polygon", corners)).toMatch(/^`value` must be a list of at least three places/);
  });
});

import type { Json } from "../../model/json.js";
import { fail } from "../failure.js";
import type { FunctionEntry } from "../function-table.js";
import type { Place } from "../place.js";
import { distanceBetween, isInPolygon, parsePlace, parsePolygon } from "../place.js";

const place = { name: "place", type: "place" } as const;

/** Arguments of type `place` are checked before the call, so they are valid here. */
const at = (value: Json): Place => parsePlace(value) ?? { lat: Number.NaN, lon: Number.NaN };

export const placeFunctions = (): readonly FunctionEntry[] => [
  {
    name: "within_radius",
    summary: "the place is at most this many kilometres from the center, along a great circle",
    parameters: [place, { name: "center", type: "place" }, { name: "radius", type: "number" }],
    returns: "boolean",
    example: { expression: "within_radius([52.39, 13.06], [52.52, 13.405], 30)", answer: true },
    run: (value: Json, center: Json, radius: number) => {
      if (radius < 0) fail("`within_radius` needs a radius that is not negative");
      return distanceBetween(at(center), at(value)) <= radius;
    },
  },
  {
    name: "in_polygon",
    summary:
      "the place is in the polygon or on its border; the corners in order, none beyond the 180th meridian",
    parameters: [place, { name: "corners", type: "polygon" }],
    returns: "boolean",
    example: { expression: "in_polygon([1, 2], ([0, 0], [0, 4], [4, 4]))", answer: true },
    run: (value: Json, corners: Json) => isInPolygon(at(value), parsePolygon(corners) ?? []),
  },
];

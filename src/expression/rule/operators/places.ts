import type { Json } from "../../../model/json.js";
import { isList, isObject } from "../../equal.js";
import type { Failure } from "../../failure.js";
import type { Place } from "../../place.js";
import {
  distanceBetween,
  isInPolygon,
  parsePlace,
  parsePolygon,
  placeDescription,
  polygonDescription,
} from "../../place.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import { ruleOperator, isNumber, invalidValue, typeMismatch } from "../rule-operator.js";

const circleDescription = `{center, radius}, the center being ${placeDescription}, the radius in km and not negative`;

export const placeOperators = (): readonly RuleOperator[] => [
  ruleOperator({
    name: "within_radius",
    summary: "the place is at most this many kilometres from the center, along a great circle",
    takes: circleDescription,
    example: {
      condition: {
        field: "store",
        op: "within_radius",
        value: { center: { lat: 52.52, lon: 13.405 }, radius: 30 },
      },
      context: { store: { lat: 52.39, lon: 13.06 } },
      answer: true,
    },
    parse: parseCircle,
    test: ({ center, radius }) =>
      onPlace("within_radius", (place) => distanceBetween(center, place) <= radius),
  }),
  ruleOperator({
    name: "in_polygon",
    summary: "the place is in the polygon or on its border; no edge may cross the 180th meridian",
    takes: `${polygonDescription}, its corners in order`,
    example: {
      condition: {
        field: "store",
        op: "in_polygon",
        value: [
          { lat: 52.3, lon: 13 },
          { lat: 52.7, lon: 13 },
          { lat: 52.7, lon: 13.8 },
          { lat: 52.3, lon: 13.8 },
        ],
      },
      context: { store: { lat: 52.39, lon: 13.06 } },
      answer: true,
    },
    parse: (value) => parsePolygon(value) ?? invalidValue(polygonDescription, value),
    test: (corners) => onPlace("in_polygon", (place) => isInPolygon(place, corners)),
  }),
];

interface Circle {
  readonly center: Place;
  readonly radius: number;
}

function parseCircle(value: Json): Circle | Failure {
  if (!isObject(value) || Object.keys(value).length !== 2) return invalidValue(circleDescription, value);
  const { center = null, radius } = value;
  const isExact = isList(center) || (isObject(center) && Object.keys(center).length === 2);
  const place = isExact ? parsePlace(center) : undefined;
  if (place === undefined || !isNumber(radius) || radius < 0) return invalidValue(circleDescription, value);
  return { center: place, radius };
}

function onPlace(name: string, test: (place: Place) => boolean): RuleTest {
  return (actual) => {
    const place = parsePlace(actual);
    return place === undefined ? typeMismatch(name, placeDescription, actual) : test(place);
  };
}

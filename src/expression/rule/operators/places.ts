import type { Json } from "../../../model/json.js";
import { isObject } from "../../equal.js";
import type { Failure } from "../../failure.js";
import type { RuleOperator, RuleTest } from "../rule-operator.js";
import { ruleOperator, isNumber, invalidValue, typeMismatch } from "../rule-operator.js";

const placeDescription = "{lat, lon} with a latitude of -90 to 90 and a longitude of -180 to 180";
const circleDescription = `{center, radius}, the center being ${placeDescription}, the radius in km and not negative`;
const earthRadius = 6371;

export const placeOperators: readonly RuleOperator[] = [
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
    test: insideCircle,
  }),
];

interface Place {
  readonly lat: number;
  readonly lon: number;
}

interface Circle {
  readonly center: Place;
  readonly radius: number;
}

function parseCircle(value: Json): Circle | Failure {
  if (!isObject(value) || Object.keys(value).length !== 2) return invalidValue(circleDescription, value);
  const { center = null, radius } = value;
  const place = isObject(center) && Object.keys(center).length === 2 ? parsePlace(center) : undefined;
  if (place === undefined || !isNumber(radius) || radius < 0) return invalidValue(circleDescription, value);
  return { center: place, radius };
}

function parsePlace(value: Json): Place | undefined {
  if (!isObject(value)) return undefined;
  const lat = value["lat"] ?? value["latitude"];
  const lon = value["lon"] ?? value["lng"] ?? value["longitude"];
  if (!isNumber(lat) || !isNumber(lon) || Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined;
  return { lat, lon };
}

function insideCircle({ center, radius }: Circle): RuleTest {
  const distance = distanceFrom(center);
  return (actual) => {
    const place = parsePlace(actual);
    return place === undefined
      ? typeMismatch("within_radius", placeDescription, actual)
      : distance(place) <= radius;
  };
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Uses the haversine formula, which is accurate for short distances, too. */
function distanceFrom(center: Place): (place: Place) => number {
  const cosine = Math.cos(radians(center.lat));
  return ({ lat, lon }) => {
    const northwards = Math.sin(radians(lat - center.lat) / 2) ** 2;
    const eastwards = Math.sin(radians(lon - center.lon) / 2) ** 2;
    const share = northwards + cosine * Math.cos(radians(lat)) * eastwards;
    return 2 * earthRadius * Math.asin(Math.sqrt(Math.min(1, share)));
  };
}

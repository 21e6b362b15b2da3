import type { Json } from "../model/json.js";
import { isList, isObject } from "./equal.js";

/** A place on the earth, in degrees. */
export interface Place {
  readonly lat: number;
  readonly lon: number;
}

export const placeDescription =
  "{lat, lon} or [lat, lon], with a latitude of -90 to 90 and a longitude of -180 to 180";
export const polygonDescription = `a list of at least three places: ${placeDescription}`;

export function parsePlace(value: Json | undefined): Place | undefined {
  const [lat, lon] = coordinatesOf(value);
  if (typeof lat !== "number" || typeof lon !== "number") return undefined;
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : undefined;
}

function coordinatesOf(value: Json | undefined): readonly (Json | undefined)[] {
  if (isList(value)) return value.length === 2 ? value : [];
  if (!isObject(value)) return [];
  return [value["lat"] ?? value["latitude"], value["lon"] ?? value["lng"] ?? value["longitude"]];
}

/** Returns the corners of a polygon; undefined if they are fewer than three, or one is not a place. */
export function parsePolygon(value: Json | undefined): readonly Place[] | undefined {
  if (!isList(value) || value.length < 3) return undefined;
  const corners = value.flatMap((each) => parsePlace(each) ?? []);
  return corners.length === value.length ? corners : undefined;
}

const earthRadius = 6371;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Returns kilometres along a great circle. Uses the haversine formula, which is accurate for short distances, too. */
export function distanceBetween(a: Place, b: Place): number {
  const northwards = Math.sin(radians(b.lat - a.lat) / 2) ** 2;
  const eastwards = Math.sin(radians(b.lon - a.lon) / 2) ** 2;
  const share = northwards + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * eastwards;
  return 2 * earthRadius * Math.asin(Math.sqrt(Math.min(1, share)));
}

/**
 * Tells whether a place is in a polygon or on its border. Counts the edges that a ray from the place crosses, in
 * the plane of latitude and longitude, so a polygon must not cross the 180th meridian.
 */
export function isInPolygon(place: Place, corners: readonly Place[]): boolean {
  let isInside = false;
  for (const [index, to] of corners.entries()) {
    const from = corners.at(index - 1) ?? to;
    if (isOnEdge(place, from, to)) return true;
    if (from.lon > place.lon === to.lon > place.lon) continue;
    const crossing = from.lat + ((to.lat - from.lat) * (place.lon - from.lon)) / (to.lon - from.lon);
    if (place.lat < crossing) isInside = !isInside;
  }
  return isInside;
}

function isOnEdge({ lat, lon }: Place, from: Place, to: Place): boolean {
  const turn = (to.lat - from.lat) * (lon - from.lon) - (to.lon - from.lon) * (lat - from.lat);
  return turn === 0 && isBetween(lat, from.lat, to.lat) && isBetween(lon, from.lon, to.lon);
}

const isBetween = (value: number, a: number, b: number): boolean =>
  Math.min(a, b) <= value && value <= Math.max(a, b);

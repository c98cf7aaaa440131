/**
 * Parameters in a form that every driver sends unchanged: text, whose type the server infers as for a literal. Drivers
 * differ in what they make of times, large numbers, JSON and arrays.
 */
import type { Parameter } from "./transaction.ts"

/** Converts a parameter. Only booleans and bytes are not text, since some drivers encode these by the type of the column. */
export const parameterOf = (value: unknown): Parameter => {
  if (value === undefined || value === null) return null
  if (typeof value === "boolean" || value instanceof Uint8Array) return value
  return textOf(value)
}

/** Converts a value other than null to text. */
export const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return `{${value.map(elementOf).join(",")}}`
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) {
    return `\\x${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}`
  }
  if (typeof value === "string") return value
  return typeof value === "number" || typeof value === "bigint" ? value.toString() : JSON.stringify(value)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const elementOf = (value: unknown): string => {
  if (value === undefined || value === null) return "NULL"
  return Array.isArray(value) ? textOf(value) : `"${textOf(value).replaceAll(/["\\]/g, "\\$&")}"`
}

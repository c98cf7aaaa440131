/** The rules of fixed and sliding windows that stores apply. */
export { add, type Counts, currentOf, empty, expiresAt, moved, sizeOf, take } from "../windows.ts"

/** The rules of token buckets that stores apply. */
export { type Bucket, currentOf, expiresAt, full, storedOf, take } from "../buckets.ts"

/**
 * The rules of claims, for stores of your own. `claim`, `release`, `extend`, `renew` and `complete` are pure: load the slot, decide,
 * and save the next state, all under the lock of the slot. `@kinora/idempotency/testing` tests the result.
 */
export {
  type Arriving,
  claim,
  complete,
  type Completion,
  extend,
  type Held,
  type Holder,
  holds,
  release,
  renew,
  type Slot,
  type SlotState,
  slotText
} from "./internal/claims.ts"

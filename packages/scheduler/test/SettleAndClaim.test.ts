import { memory } from "./Fixture.ts"
import { suite } from "./SettleAndClaimContract.ts"

suite("memory", memory)

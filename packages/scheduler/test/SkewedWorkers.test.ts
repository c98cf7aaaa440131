import { memory } from "./Fixture.ts"
import { suite } from "./SkewedWorkersContract.ts"

suite("memory", memory)

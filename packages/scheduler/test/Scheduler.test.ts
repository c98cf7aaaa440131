import { memory } from "./Fixture.ts"
import { suite } from "./SchedulerContract.ts"

suite("memory", memory)

import { suite as crowd } from "./CrowdContract.ts"
import { memory } from "./Fixture.ts"
import { suite } from "./SchedulerContract.ts"

suite("memory", memory)
crowd("memory", memory)

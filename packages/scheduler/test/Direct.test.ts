import { suite } from "./DirectContract.ts"
import { memory } from "./Fixture.ts"

suite("memory", memory)

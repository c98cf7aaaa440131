import * as Backend from "./Backend.ts"
import { suite } from "./ResponsesContract.ts"

suite("memory", Backend.memory)

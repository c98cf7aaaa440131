import { layerMemory } from "./Assembly.ts"
import { suite } from "./BudgetsContract.ts"

suite("memory", layerMemory)

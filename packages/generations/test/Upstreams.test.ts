import { layerMemory } from "./Assembly.ts"
import {
  circuitSuite,
  deadlineSuite,
  fallbackSuite,
  limitSuite,
  reuseSuite,
  sharedLimitSuite
} from "./UpstreamsContract.ts"

const services = layerMemory

circuitSuite("memory", services)
limitSuite("memory", services)
sharedLimitSuite("memory", services)
fallbackSuite("memory", services)
deadlineSuite("memory", services)
reuseSuite("memory", services)

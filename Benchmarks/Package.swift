// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what the store is compared with never reaches who uses the store.
//
// One executable for each group of benchmarks: `run --only engine` then builds neither GRDB nor any
// other peer.
let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "engine-benchmarks", targets: ["EngineBenchmarks"])
  ],
  dependencies: [
    .package(name: "logstore", path: "..")
  ],
  targets: [
    .target(name: "Workloads", swiftSettings: swiftSettings),
    .systemLibrary(name: "CAllocator"),
    .target(name: "Harness", dependencies: ["CAllocator"], swiftSettings: swiftSettings),
    .target(name: "Floor", dependencies: ["Harness", "Workloads"], swiftSettings: swiftSettings),
    .target(
      name: "EngineStore",
      dependencies: ["Workloads", .product(name: "LogEngine", package: "logstore")],
      swiftSettings: swiftSettings
    ),
    .executableTarget(
      name: "EngineBenchmarks",
      dependencies: [
        "EngineStore", "Floor", "Harness", "Workloads",
        .product(name: "LogEngine", package: "logstore"),
      ],
      path: "Sources/Engine",
      swiftSettings: swiftSettings
    ),
  ],
  swiftLanguageModes: [.v6]
)

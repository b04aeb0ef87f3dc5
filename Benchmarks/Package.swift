// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that what the store is compared with never reaches who uses the store.

let swiftSettings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  targets: [
    .target(name: "Workloads", swiftSettings: swiftSettings),
    .systemLibrary(name: "CAllocator"),
    .target(name: "Harness", dependencies: ["CAllocator"], swiftSettings: swiftSettings),
    .target(name: "Floor", dependencies: ["Harness"], swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6]
)

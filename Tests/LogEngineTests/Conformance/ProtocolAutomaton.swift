import LogEngineTestSupport

@testable import LogEngine
@testable import LogFormat

/// Accepts the steps that the models of `Tools/ModelCheck` allow, and tells of the first that they do not.
///
/// The models go through every order of the steps they have; this goes through the steps that the engine has. Each
/// rule bears the name of the fault that `Tools/ModelCheck/Faults` plants where it is broken.
struct ProtocolAutomaton {
  /// The first rule that was broken.
  private(set) var violation: String?
  private(set) var stepCount = 0
  /// How often each rule was looked at: one that never is proves nothing.
  private(set) var uses: [String: Int] = [:]

  private struct File {
    /// Whether something was written, and not synchronized.
    var isDirty = false
    /// Up to where there is something.
    var end = 0
    /// Whether its name is on the disk.
    var isNamed = false
  }

  private let root: String
  private var files: [String: File] = [:]
  /// The manifests there are, oldest first.
  private var manifests: [(number: UInt64, manifest: Manifest, path: String)] = []
  private var isOpen = false
  /// Whether the manifest that counts says that the log was closed.
  private var isClosed = false
  /// The segment whose header was written last.
  private var newest: String?
  private var hasFailed = false

  init(root: String) { self.root = root }

  private func isSegment(_ path: String) -> Bool { path.hasPrefix(root + "/log/") }
  private func isPack(_ path: String) -> Bool { path.hasPrefix(root + "/pack/") }
  private func directory(of path: String) -> Substring {
    path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
  }
  private func path(of segment: SegmentID) -> String { StorePaths(root: root).segment(segment) }
  private func path(of pack: PackID) -> String { StorePaths(root: root).pack(pack) }

  private mutating func require(_ rule: String, _ condition: Bool, _ what: String) {
    uses[rule, default: 0] += 1
    if !condition, violation == nil { violation = "step \(stepCount), \(rule): \(what)" }
  }

  private func isNamed(_ path: String) -> Bool { files[path]?.isNamed == true }

  mutating func take(_ step: ProtocolStep) {
    stepCount += 1
    switch step {
    case .create(let path): files[path] = File()
    case .write(let path, let range): write(path, range)
    case .fill(let path): files[path, default: File()].isDirty = true
    case .synchronize(let path): files[path]?.isDirty = false
    case .setSize(let path, let size): setSize(path, size)
    case .rename(let path, let newPath, let manifest): rename(path, newPath, manifest)
    case .unlink(let path): unlink(path)
    case .synchronizeDirectory(let path):
      for name in files.keys where directory(of: name) == path { files[name]?.isNamed = true }
    case .acknowledge: acknowledge()
    case .fail: hasFailed = true
    case .opened:
      isOpen = true
      hasFailed = false
    case .ended:
      isOpen = false
      newest = nil
    }
  }

  // MARK: Segments

  // `LogWriter.write(_:synchronizing:_:)`, `begin(_:)`, `SegmentPreparation.make(_:capacity:)`
  private mutating func write(_ path: String, _ range: Range<Int>) {
    defer {
      files[path, default: File()].isDirty = true
      let end = files[path]?.end ?? 0
      files[path]?.end = max(end, range.upperBound)
    }
    guard isSegment(path), isOpen else { return }
    require("CLOSE_NOT_SYNCED", !isClosed || newest == nil, "\(path) is written to, and was closed")
    if range.lowerBound == 0 {
      // The header: what is before the segment is on disk, and so is its name.
      for (other, file) in files where isSegment(other) && other < path {
        require("SEAL_NOT_SYNCED", !file.isDirty, "\(path) begins, \(other) is not on disk")
      }
      require("SEGMENT_NAME_NOT_SYNCED", isNamed(path), "\(path) begins without a name")
      newest = path
    } else if range.lowerBound == SegmentHeader.byteCount, path == newest {
      let isDirty = files[path]?.isDirty == true
      require("SEGMENT_HEADER_NOT_SYNCED", !isDirty, "\(path) gets frames before its header")
    }
    if let newest {
      require("NAME_NOT_SEALED_END", path >= newest, "\(path) is written to behind \(newest)")
    }
    isClosed = false
  }

  // `LogWriter.end(_:)`, `extend(_:to:)`
  private mutating func setSize(_ path: String, _ size: Int) {
    if isSegment(path) {
      let end = files[path]?.end ?? 0
      require("SIZE_BELOW_END", size >= end, "\(path) is cut off at \(size), and ends at \(end)")
    }
    let end = files[path]?.end ?? 0
    files[path]?.end = min(end, size)
  }

  // `LogWriter.commit(_:)`, where it returns
  private mutating func acknowledge() {
    require("NO_POISON", !hasFailed, "a commit is acknowledged after a failure")
    for (path, file) in files where isSegment(path) && file.end > 0 {
      require("NO_SYNC", !file.isDirty, "a commit is acknowledged, \(path) is not on disk")
      require("SEGMENT_NAME_NOT_SYNCED", file.isNamed, "a commit is acknowledged in \(path)")
    }
  }

  // MARK: Names

  // `ManifestFiles.putInPlace(_:)`, `Compactor.verify(upTo:)`, `CheckpointFiles.publish(_:number:)`
  private mutating func rename(_ path: String, _ newPath: String, _ manifest: Manifest?) {
    let file = files.removeValue(forKey: path) ?? File()
    require(
      newPath.contains("/manifest.") ? "MANIFEST_NOT_SYNCED" : "PACK_NOT_SYNCED",
      !file.isDirty,
      "\(newPath) gets its name before it is on disk"
    )
    files[newPath] = File(isDirty: file.isDirty, end: file.end, isNamed: false)
    // The zeros of a segment that was made ready are nothing that must stay.
    if isSegment(newPath) { files[newPath]?.end = 0 }
    if let manifest { publish(manifest, newPath) }
  }

  // `Compactor.publish()`, `LogWriter.publishManifest(isClean:_:)`
  private mutating func publish(_ manifest: Manifest, _ path: String) {
    let before = manifests.last?.manifest
    if let before {
      let follows = manifest.number == before.number + 1
      require("MANIFEST_ORDER", follows, "\(path) after \(before.number)")
    }
    for pack in manifest.base?.packs ?? [] {
      let name = self.path(of: pack.id)
      require("PACK_NAME_NOT_SYNCED", isNamed(name), "\(path) names \(name)")
    }
    for segment in manifest.segments {
      let name = self.path(of: segment.id)
      let end = files[name]?.end ?? 0
      require("REMOVED_BEFORE_MANIFEST", isNamed(name), "\(path) names \(name)")
      require("SIZE_BELOW_END", end >= segment.end, "\(path) names \(name) to \(segment.end)")
    }
    if manifest.base != before?.base || manifest.isClean {
      for (name, file) in files where isSegment(name) {
        require(
          manifest.isClean ? "MANIFEST_BEFORE_MARK" : "LOG_NOT_SYNCED_BEFORE_MANIFEST",
          !file.isDirty,
          "\(path) counts on \(name), which is not on disk"
        )
      }
    }
    isClosed = manifest.isClean
    manifests.append((manifest.number, manifest, path))
  }

  // `Compactor.remove(_:)`, `giveUp()`, `StoreState.removeRetiredFiles(behind:)`, `ManifestFiles.putInPlace(_:)`
  private mutating func unlink(_ path: String) {
    defer {
      files[path] = nil
      manifests.removeAll { $0.path == path }
    }
    // What a power cut may leave as the newest: one whose name is on disk, or any after it.
    let lastNamed = manifests.lastIndex { isNamed($0.path) } ?? manifests.startIndex
    let possible = manifests[lastNamed...]
    if path.contains("/manifest.") {
      let isNeeded = possible.contains { $0.path == path }
      require("MANIFEST_NAME_NOT_SYNCED", !isNeeded, "\(path) goes, and may be the store")
      return
    }
    for (_, manifest, name) in possible {
      if isSegment(path) {
        let isNeeded = manifest.segments.contains { self.path(of: $0.id) == path }
        require("REMOVED_BEFORE_MANIFEST", !isNeeded, "\(path) goes, \(name) needs it")
      } else if isPack(path) {
        let isNeeded = (manifest.base?.packs ?? []).contains { self.path(of: $0.id) == path }
        require("REMOVED_BEFORE_MANIFEST", !isNeeded, "\(path) goes, \(name) needs it")
      }
    }
    // A segment of the log that no manifest names yet has frames all the same.
    if isSegment(path), let last = possible.last {
      let frames = (files[path]?.end ?? 0) > SegmentHeader.byteCount
      let isPacked = path <= self.path(of: last.manifest.base?.segment ?? .none)
      require("REMOVED_BEFORE_MANIFEST", !frames || isPacked, "\(path) goes, and has frames")
    }
  }
}

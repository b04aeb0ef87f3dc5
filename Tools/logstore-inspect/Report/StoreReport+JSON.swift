import LogEngine
import LogTools

extension StoreReport {
  /// The figures for programs.
  var item: JSONValue {
    [
      "store": .string(map.path), "time": .string("\(Timestamp(microseconds: now))"),
      "files": .array(map.listing.items),
      "growth": .array(
        growth.elements.map { point in
          [
            "time": .string("\(Timestamp(microseconds: point.time))"),
            "commit": .unsigned(point.commit), "log_bytes": .integer(Int64(point.logByteCount)),
            "rows": .integer(Int64(point.rowCount)),
          ]
        }
      ),
      "record_sizes": .array(
        (records.powers.map(Array.init) ?? []).map { power in
          let counts = records.counts[power] ?? [:]
          var members: [JSONValue.Member] = [
            .init(name: "up_to_bytes", value: .integer(1 << Int64(power)))
          ]
          for kind in RecordKind.allCases {
            members.append(.init(name: "\(kind)", value: .integer(Int64(counts[kind] ?? 0))))
          }
          return .object(members)
        }
      ),
      "entities": .array(
        entities.map { entity in
          [
            "entity": .string(entity.name), "rows": .integer(Int64(entity.rowCount)),
            "inserted": .integer(Int64(entity.insertCount)),
            "updated": .integer(Int64(entity.updateCount)),
            "deleted": .integer(Int64(entity.deleteCount)),
            "live_bytes": .integer(Int64(entity.usage.liveByteCount)),
            "history_bytes": .integer(Int64(entity.usage.historyByteCount)),
            "dead_bytes": .integer(Int64(entity.usage.deadByteCount)),
          ]
        }
      ),
      "compactions": .array(
        compactions.map { pack in
          [
            "pack": .unsigned(pack.number ?? 0),
            "time": pack.created.map { .string("\(Timestamp(microseconds: $0))") } ?? .null,
            "rows": .integer(Int64(pack.rowCount ?? 0)),
            "record_bytes": .integer(Int64(pack.recordByteCount ?? 0)),
            "bytes": .integer(Int64(pack.fileByteCount)),
          ]
        }
      ),
    ]
  }

  /// The packs there are, oldest first: each was made by a compaction.
  var compactions: [StoreMap.Entry] { map.entries.filter { $0.kind == .pack } }
}

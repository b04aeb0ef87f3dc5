/*
 * How the log goes on from one segment to the next, and is opened again.
 *
 * One thread commits, seals segments, begins others and closes; the machine may lose its power, or the process be
 * killed, after every step. Beside each step stands the function it models.
 *
 * Frame k of a segment is bit k of a mask; the header is bit 7. `cached` is what programs see, `dirty` what the system
 * owes the disk. Names are bits of masks, too: of what a directory was not synchronized for, a power cut keeps any part.
 *
 *   -DRELAXED     commits do not wait for the disk (EngineOptions.Durability.relaxed)
 *   -DPLANT_…     a planted fault; see Faults
 */
#define SEGMENTS 4
#define COMMITS 3
#define HEADER 128
#ifndef OPENINGS
#define OPENINGS 4
#endif

#define bit(number) (1 << (number))
#define frames(count) (bit(count) - 1)
#define one(mask, number) (((mask) >> (number)) & 1)
#define count(mask) (one(mask, 0) + one(mask, 1) + one(mask, 2) + one(mask, 3) + one(mask, 4) + one(mask, 5))

/* The disk. */
byte names, durableNames;       /* of segments, in log/ */
byte cached[SEGMENTS], dirty[SEGMENTS], durable[SEGMENTS];
/* What a segment's header says of its predecessor (SegmentHeader.previousSegment, previousEnd). */
byte previous[SEGMENTS];
byte previousEnd[SEGMENTS];
/* Which frames of a segment are commits, and not marks that end it. */
byte commits[SEGMENTS];
/* The manifest that counts; publishing it is one step here, see Compaction. */
byte manifestSegments;
byte manifestSegment, manifestEnd;
bool manifestIsClean;

/* The tail. */
#define NONE 15
byte segment = NONE;    /* the segment being appended to */
byte end;               /* how many frames it has */
bool isEnded;           /* LogTail.isEnded: the log stopped in it uncleanly */
byte prepared = NONE;   /* SegmentPreparation: a segment made ready */
byte next;              /* the number the next segment gets */

/* What was promised. */
byte appended;          /* commits, counted over all segments */
byte acknowledged, onDisk;

bool powerFailed;
byte openings, i, last, valid, found, blank;

inline addAny(from, to)
{
  i = 0;
  do
  :: i < 8 ->
    if
    :: from & bit(i) -> if :: to = to | bit(i) :: skip fi
    :: else
    fi;
    i++
  :: else -> break
  od
}

/* Of what was not synchronized, a power cut keeps any part. */
inline powerCut()
{
  d_step { powerFailed = true; last = 0 };
  do
  :: last < SEGMENTS ->
    addAny(dirty[last], durable[last]);
    skip;
    d_step { dirty[last] = 0; cached[last] = durable[last]; last++ }
  :: else -> break
  od;
  valid = 0;
  addAny((names ^ durableNames), valid);
  skip;
  d_step {
    durableNames = durableNames ^ valid; names = durableNames; valid = 0;
    /* A file whose name is gone is gone. */
    last = 0;
    do
    :: last < SEGMENTS ->
      if
      :: !(names & bit(last)) -> cached[last] = 0; durable[last] = 0; previous[last] = 0; previousEnd[last] = 0; commits[last] = 0
      :: else
      fi;
      last++
    :: else -> break
    od;
    last = 0; i = 0
  }
}

inline mayCrash()
{
  if
  :: skip
  :: goto crash
  fi
}

inline write(file, bits)
{
  d_step { cached[file] = cached[file] | (bits); dirty[file] = dirty[file] | (bits) }
}

inline synchronize(file)
{
  d_step { durable[file] = durable[file] | dirty[file]; dirty[file] = 0 }
}

/* FileSystem.synchronizeDirectory(_:), of log/ */
inline synchronizeNames() { durableNames = names }

/* SegmentPreparation.make(_:capacity:): written aside, synchronized, renamed. */
inline prepare()
{
  atomic { prepared = next; next++; names = names | bit(prepared) };
  mayCrash();
#ifndef PLANT_SEGMENT_NAME_NOT_SYNCED
  synchronizeNames();
  mayCrash();
#endif
}

/* LogWriter.sealSegment(_:) */
inline seal()
{
  if
  :: segment != NONE && !isEnded ->
    write(segment, bit(end));
    end++;
    mayCrash();
  :: segment != NONE && isEnded
  :: segment == NONE
  fi;
#ifndef PLANT_SEAL_NOT_SYNCED
  if
  :: segment != NONE -> synchronize(segment); onDisk = appended; mayCrash();
  :: else
  fi
#endif
}

/* LogWriter.begin(_:) */
inline beginSegment()
{
  d_step {
    previous[prepared] = segment;
    previousEnd[prepared] = (segment == NONE -> 0 : end);
  };
#ifdef PLANT_NAME_NOT_SEALED_END
  previousEnd[prepared] = (segment == NONE -> 0 : end - 1);
#endif
  write(prepared, HEADER);
  mayCrash();
#ifndef PLANT_SEGMENT_HEADER_NOT_SYNCED
  synchronize(prepared);
  mayCrash();
#endif
  d_step { segment = prepared; prepared = NONE; end = 0; isEnded = false }
}

/* LogWriter.commit(_:) */
inline commit()
{
  atomic { appended++; commits[segment] = commits[segment] | bit(end) };
  write(segment, bit(end));
  end++;
  mayCrash();
#ifndef RELAXED
  synchronize(segment);
  onDisk = appended;
#endif
  acknowledged = appended;
  mayCrash()
}

/* LogFiles.init(paths:fileSystem:mode:after:), Recovery.run() */
inline recover()
{
  d_step {
    last = NONE; found = 0; blank = 0; valid = 0; i = 0;
    /* Recovery.checkPresence(_:): what the manifest names is there. */
    assert((names & manifestSegments) == manifestSegments);
    do
    :: i < SEGMENTS ->
      if
      :: (names & bit(i)) && (cached[i] & HEADER) ->
        /* A segment with a header after one without: the latter had one, too. */
        assert(blank == 0);
        /* Each names its predecessor, which is valid up to where its successor says that it ends. */
        assert(previous[i] == last);
        if
        :: last != NONE ->
          assert((cached[last] & frames(previousEnd[i])) == frames(previousEnd[i]));
          commits[last] = commits[last] & frames(previousEnd[i]);
          found = found + count(commits[last])
        :: else
        fi;
        last = i
      :: (names & bit(i)) && !(cached[i] & HEADER) ->
        /* LogFiles.isBlank(_:): no frame was written before the header was on disk. */
        assert(cached[i] == 0);
        assert(!(manifestSegments & bit(i)));
        blank = blank | bit(i)
      :: else
      fi;
      i++
    :: else -> break
    od;
    if
    :: last != NONE ->
      do
      :: valid < 7 && (cached[last] & bit(valid)) -> valid++
      :: else -> break
      od;
      assert(last != manifestSegment || valid >= manifestEnd);
      commits[last] = commits[last] & frames(valid);
      found = found + count(commits[last])
    :: else
    fi;
#ifndef RELAXED
    assert(found >= acknowledged);
#else
    assert(powerFailed || found >= acknowledged);
#endif
    assert(found >= onDisk);
    assert(found <= appended);
    i = 0
  }
}

init
{
opening:
  openings++;
  recover();
  /* Recovery.repair(_:): segments without a header are removed; what was read is written again. */
  d_step {
    isEnded = !(manifestIsClean && manifestSegment == last && manifestEnd == valid && last != NONE);
    names = names & ~blank;
    cached[0] = (blank & 1 -> 0 : cached[0]); cached[1] = (blank & 2 -> 0 : cached[1]);
    /* Nothing remains of a number's first file. */
    i = 0;
    next = 0;
    do
    :: i < SEGMENTS ->
      if
      :: (names | blank) & bit(i) -> next = i + 1
      :: else
      fi;
      i++
    :: else -> break
    od;
    i = 0;
    segment = last; end = valid; prepared = NONE; blank = 0;
    #ifdef RELAXED
    acknowledged = found;
#endif
    appended = found; powerFailed = false
  };
  mayCrash();
  if
  :: segment != NONE && isEnded ->
    /* The torn bytes stay, in a segment that takes no more. */
    write(segment, (cached[segment] & frames(end)) | HEADER);
    mayCrash();
    synchronize(segment);
    mayCrash();
    /* LogWriter.witnessRecovery() */
    d_step {
      onDisk = appended; manifestIsClean = false;
      manifestSegment = segment; manifestEnd = end; manifestSegments = names
    }
  :: else
  fi;
  /* What was found once is found again. */
  acknowledged = appended;
  mayCrash();
  do
  :: appended < COMMITS && segment != NONE && !isEnded && end < 3 -> commit()
  /* LogWriter.beginNextSegment(for:at:_:), because a segment is full, or the log stopped in it. */
  :: next < SEGMENTS || prepared != NONE ->
    if
    :: prepared == NONE -> prepare()
    :: else
    fi;
    seal();
    beginSegment()
  :: prepared == NONE && next < SEGMENTS -> prepare()
  /* LogWriter.close() */
  :: segment != NONE && !isEnded && end < 6 ->
    /* SegmentPreparation.discard() */
    if
    :: prepared != NONE -> names = names & ~bit(prepared); prepared = NONE; mayCrash()
    :: else
    fi;
    write(segment, bit(end));
    end++;
    mayCrash();
#ifndef PLANT_CLOSE_NOT_SYNCED
    synchronize(segment);
    onDisk = appended;
    mayCrash();
#endif
    d_step {
      manifestIsClean = true; manifestSegment = segment; manifestEnd = end;
      manifestSegments = names
    };
    break
  :: goto crash
  od;
crash:
  if
  :: openings < OPENINGS ->
    atomic {
      if
      :: powerCut()
      :: skip
      fi;
      segment = NONE; end = 0; isEnded = false; prepared = NONE; next = 0;
      goto opening
    }
  :: else
  fi
}

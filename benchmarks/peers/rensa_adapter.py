"""rensa: full MinHash of the same shingles in one call, every band looked up, the estimate as the test."""

import rensa  # type: ignore[import-not-found]  # lives in the peer's own environment
from common import clean, job, read_texts, shingles, write_outcome

# Bands of 128 permutations by threshold: rensa leaves the choice to its users and asks for a divisor.
BANDS = {0.5: 32, 0.6: 32, 0.7: 16, 0.8: 16, 0.9: 8}
SEED = 42


def main() -> None:
    source, out, ngram, threshold, num_perm = job()
    sets = [list(shingles(clean(text), ngram)) for text in read_texts(source)]
    signatures = rensa.RMinHash.from_token_sets(sets, num_perm, SEED)
    del sets
    lsh = rensa.RMinHashLSH(threshold, num_perm, BANDS[threshold])
    for doc, signature in enumerate(signatures):
        lsh.insert(doc, signature)
    pairs = [
        (a, b)
        for b, candidates in enumerate(lsh.query_all(signatures))
        for a in candidates
        if a < b and signatures[a].jaccard(signatures[b]) >= threshold
    ]
    write_outcome(out, len(signatures), pairs)


if __name__ == "__main__":
    main()

package main

import (
	"bytes"
	"errors"
	"fmt"
)

// errClass says that a file is not a class file.
var errClass = errors.New("not a class file")

// className reads the name in a class file, as in shop/Prices$Store. It can differ from the name of the file, and a
// decompiler uses it.
func className(file []byte) (string, error) {
	const tagUTF8, tagClass = 1, 7
	if len(file) < 10 || !bytes.HasPrefix(file, []byte{0xca, 0xfe, 0xba, 0xbe}) {
		return "", errClass
	}
	count, rest := twoBytes(file[8:]), file[10:]
	texts, classes := map[int]string{}, map[int]int{}
	for i := 1; i < count; i++ {
		if len(rest) < 3 {
			return "", errClass
		}
		tag, size := rest[0], 0
		switch tag {
		case tagUTF8:
			size = 3 + twoBytes(rest[1:])
			if len(rest) < size {
				return "", errClass
			}
			texts[i] = string(rest[3:size])
		case tagClass:
			size, classes[i] = 3, twoBytes(rest[1:])
		case 8, 16, 19, 20: // a string, a method's type, a module, a package
			size = 3
		case 15: // a method handle
			size = 4
		case 3, 4, 9, 10, 11, 12, 17, 18: // 4-byte numbers, members, their names, what is made at run time
			size = 5
		case 5, 6: // 8-byte numbers take two entries
			size = 9
			i++
		default:
			return "", fmt.Errorf("%w: constant of kind %d", errClass, tag)
		}
		if len(rest) < size {
			return "", errClass
		}
		rest = rest[size:]
	}
	if len(rest) < 4 {
		return "", errClass
	}
	return texts[classes[twoBytes(rest[2:])]], nil
}

func twoBytes(b []byte) int { return int(b[0])<<8 | int(b[1]) }
